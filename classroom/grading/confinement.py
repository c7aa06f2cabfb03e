"""Linux itself keeps a process from writing, reading, calling, starting and signalling, for good: no C library gets by.

Two doors of the kernel, opened with ctypes because Python has none. Landlock (``man 7 landlock``) says which files may
be read; none may be written. A seccomp filter (``man 2 seccomp``) refuses the system calls that Landlock doesn't know
of. Both hold for everything that the process does from then on, and nothing in it can take them back.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

# --- Landlock: files, from <linux/landlock.h> -----------------------------------------------------

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # on every processor
READ_FILE, READ_DIR, WRITE_FILE = 1 << 2, 1 << 3, 1 << 1
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16}  # of files: how many each version of Landlock knows
TCP, SCOPES = 0b11, 0b11  # bind and connect, from version 4 on; abstract sockets and signals, from version 6 on

# --- seccomp: system calls, from <asm/unistd.h> of each processor ---------------------------------

PROCESSORS = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # the filter's name for it, the column below
REFUSED = {
    "socket": (41, 198), "socketpair": (53, 199), "io_uring_setup": (425, 425),
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "chroot": (161, 51),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "ptrace": (101, 117), "process_vm_writev": (311, 271), "setpgid": (109, 154),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "truncate": (76, 45), "mq_open": (240, 180),
    "sethostname": (170, 161), "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "reboot": (169, 142), "bpf": (321, 280),
}  # fmt: skip
OF_OTHERS = {"prlimit64": (302, 261), "sched_setaffinity": (203, 122)}  # refused if their first argument is not 0: self
CLONE, CLONE3 = (56, 220), (435, 435)
CLONE_THREAD = 0x10000
ALLOW, REFUSE = 0x7FFF0000, 0x00050000  # the second one with the number of the error
LOAD, JUMP_IF_EQUAL, JUMP_IF_BITS, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER, PROCESSOR, FIRST_ARGUMENT = 0, 4, 16  # where they stand in what the filter sees

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def confine(readable: Iterable[str | os.PathLike]) -> bool:
    """From now on this process reads only files and folders in ``readable``, writes none, and does nothing to others.

    It must have one thread. Returns whether the kernel does all of it; if not (another system, an old kernel, another
    processor), nothing is changed.

    Raises:
        OSError: the kernel can do it, and failed.
    """
    if sys.platform != "linux" or platform.machine() not in PROCESSORS or sys.maxsize < 2**32:
        return False
    version = _libc.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    _expect(_libc.prctl(38, 1, 0, 0, 0))  # PR_SET_NO_NEW_PRIVS: what an unprivileged process has to promise first
    _landlock(min(version, 6), readable)
    _seccomp(*PROCESSORS[platform.machine()])
    return True


def _expect(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"this process can't be confined: {os.strerror(ctypes.get_errno())}")
    return result


def _landlock(version: int, readable: Iterable[str | os.PathLike]) -> None:
    ruleset = struct.pack("QQQ", (1 << RIGHTS[version]) - 1, TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _expect(_libc.syscall(CREATE_RULESET, ruleset, size, 0))
    allowed = {str(path): READ_FILE | (READ_DIR if Path(path).is_dir() else 0) for path in readable}
    for path, rights in (allowed | {os.devnull: READ_FILE | WRITE_FILE}).items():
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        _expect(_libc.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", rights, place), 0))
        os.close(place)
    _expect(_libc.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)


def _seccomp(processor: int, column: int) -> None:
    refuse = (RETURN, 0, 0, REFUSE | errno.EPERM)
    steps = [(LOAD, 0, 0, PROCESSOR), (JUMP_IF_EQUAL, 1, 0, processor), refuse]  # else: another one's system calls
    steps += [(LOAD, 0, 0, NUMBER)]
    if column == 0:
        steps += [(0x35, 0, 1, 0x40000000), refuse]  # from here on: the numbers of another way to call, x32
    for numbers in REFUSED.values():
        if numbers[column] is not None:
            steps += [(JUMP_IF_EQUAL, 0, 1, numbers[column]), refuse]
    # The C library falls back to clone, whose flags a filter can see.
    steps += [(JUMP_IF_EQUAL, 0, 1, CLONE3[column]), (RETURN, 0, 0, REFUSE | errno.ENOSYS)]
    steps += [(JUMP_IF_EQUAL, 0, 3, CLONE[column]), (LOAD, 0, 0, FIRST_ARGUMENT), (JUMP_IF_BITS, 1, 0, CLONE_THREAD)]
    steps += [refuse, (LOAD, 0, 0, NUMBER)]
    for numbers in OF_OTHERS.values():
        steps += [(JUMP_IF_EQUAL, 0, 3, numbers[column]), (LOAD, 0, 0, FIRST_ARGUMENT), (JUMP_IF_EQUAL, 1, 0, 0)]
        steps += [refuse, (LOAD, 0, 0, NUMBER)]
    steps += [(RETURN, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    _expect(_libc.prctl(22, 2, program, 0, 0))  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
