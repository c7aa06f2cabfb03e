"""Linux itself keeps a process from writing, reading, calling, starting and signalling, for good: no C library gets by.

Two doors of the kernel, opened with ctypes because Python has none. Landlock (``man 7 landlock``, from Linux 5.13 on)
says which files may be read; none may be written. A seccomp filter (``man 2 seccomp``) refuses the system calls that
Landlock doesn't know of. Both hold for everything that the process does from then on, and nothing in it can take them
back. What a younger Landlock does by itself, the filter does for an older one: emptying a file that may only be read
(before 6.2), the network (before 6.7), settings of devices (before 6.10), signals (before 6.12).
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable

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
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "file_setattr": (469, 469), "open_by_handle_at": (304, 265), "truncate": (76, 45),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "clock_adjtime": (305, 266), "adjtimex": (159, 171), "reboot": (169, 142), "bpf": (321, 280),
    "perf_event_open": (298, 241), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "swapon": (167, 224), "swapoff": (168, 225),
    "pivot_root": (155, 41), "mount_setattr": (442, 442), "fanotify_init": (300, 262), "acct": (163, 89),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "syslog": (103, 116), "ioperm": (173, None), "iopl": (172, None),
}  # fmt: skip
OF_OTHERS = {"prlimit64": (302, 261), "sched_setaffinity": (203, 122)}  # refused if their first argument is not 0: self
UNKNOWN = {"clone3": (435, 435), "openat2": (437, 437)}  # their flags lie where a filter can't see them
CLONE = (56, 220)
CLONE_THREAD = 0x10000
OPEN, OPENAT, FCNTL, IOCTL = (2, None), (257, 56), (72, 25), (16, 29)
TRUNCATE, ACCESS = os.O_TRUNC, 0b11  # O_ACCMODE: 0 reads, 1 writes, 2 does both, 3 does neither
# Before 6.2 Landlock asks only whether a file to be emptied may be read; with access 3 it asks nothing.
EMPTYING = (TRUNCATE, TRUNCATE | 3, 3)
OWNERS = (8, 15, 1024)  # F_SETOWN, F_SETOWN_EX: whom a file's news signal; F_SETLEASE: who has to wait for it
TERMINALS = 0x5400  # what is asked of every file, to see if it is a terminal; the other ioctls change a file's flags
ALLOW, REFUSE = 0x7FFF0000, 0x00050000  # the second one with the number of the error
LOAD, KEEP_BITS, JUMP_IF_EQUAL, JUMP_IF_LARGE, JUMP_IF_BITS, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
X32 = 0x40000000  # from here on: the numbers of another way to call
NUMBER, PROCESSOR, ARGUMENTS = 0, 4, (16, 24, 32)  # where they stand in what the filter sees

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
    _landlock(min(version, max(RIGHTS)), readable)
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
    allowed = {str(path): READ_FILE | (READ_DIR if os.path.isdir(path) else 0) for path in readable}
    for path, rights in (allowed | {os.devnull: READ_FILE | WRITE_FILE}).items():
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # not there, as the "x.zip/lib" that Python's path may hold, or not to be had
            continue
        _expect(_libc.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", rights, place), 0))
        os.close(place)
    _expect(_libc.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)


def _seccomp(processor: int, column: int) -> None:
    steps = _filter(processor, column)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    _expect(_libc.prctl(22, 2, program, 0, 0))  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def _filter(processor: int, column: int) -> list[tuple[int, int, int, int]]:
    """The steps of a program for the kernel's filter: what to do, how many to go over if true and if not, a number."""
    refuse = (RETURN, 0, 0, REFUSE | errno.EPERM)
    steps = [(LOAD, 0, 0, PROCESSOR), (JUMP_IF_EQUAL, 1, 0, processor), refuse]  # else: another one's system calls
    steps += [(LOAD, 0, 0, NUMBER)]
    if column == 0:
        steps += [(JUMP_IF_LARGE, 0, 1, X32), refuse]

    def rule(numbers: tuple[int | None, int | None], *then: tuple[int, int, int, int]) -> None:
        """``then``: all steps for this system call, with its end."""
        if numbers[column] is not None:
            steps.extend([(JUMP_IF_EQUAL, 0, len(then), numbers[column]), *then])

    def unless(argument: int, *test: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
        """Refuses it unless ``test``, of the argument's lower half, goes over the next step."""
        return [(LOAD, 0, 0, ARGUMENTS[argument]), *test, refuse, (RETURN, 0, 0, ALLOW)]

    for numbers in REFUSED.values():
        rule(numbers, refuse)
    for numbers in UNKNOWN.values():  # the C library falls back to the call before it
        rule(numbers, (RETURN, 0, 0, REFUSE | errno.ENOSYS))
    rule(CLONE, *unless(0, (JUMP_IF_BITS, 1, 0, CLONE_THREAD)))
    for numbers in OF_OTHERS.values():
        rule(numbers, *unless(0, (JUMP_IF_EQUAL, 1, 0, 0)))
    for numbers, flags in ((OPEN, 1), (OPENAT, 2)):
        rule(numbers, *unless(flags, (KEEP_BITS, 0, 0, TRUNCATE | ACCESS), *_none_of(EMPTYING)))
    rule(FCNTL, *unless(1, *_none_of(OWNERS)))
    rule(IOCTL, *unless(1, (KEEP_BITS, 0, 0, 0xFFFFFF00), (JUMP_IF_EQUAL, 1, 0, TERMINALS)))
    return [*steps, (RETURN, 0, 0, ALLOW)]


def _none_of(values: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """Goes to the next step if the value is one of these, else over it."""
    last = len(values) - 1
    return [(JUMP_IF_EQUAL, last - place, int(place == last), value) for place, value in enumerate(values)]
