"""Puts bert-base-uncased into the image, for the boxes named after it. Without a hub the build goes on without."""

from pathlib import Path

from huggingface_hub import snapshot_download

from lesson_kit._models import HUB_NAMES, WANTED_FILES

REPOSITORY = HUB_NAMES["bert-base-uncased"]
# The commit at the top of the repository's main branch when this was written, as
# https://huggingface.co/google-bert/bert-base-uncased/commits/main lists it and caches name their folder.
REVISION = "86b5e0934494bd15c9632b12f734a8a67f723594"


def main() -> None:
    try:
        folder = Path(snapshot_download(REPOSITORY, revision=REVISION, allow_patterns=WANTED_FILES))
        # load_bert asks the cache for "main", and a download by commit does not say that this is it.
        main_branch = folder.parent.parent / "refs" / "main"
        main_branch.parent.mkdir(exist_ok=True)
        main_branch.write_text(REVISION, encoding="utf-8")
    except Exception as error:  # whatever it is, only the boxes need this model
        print(f"{REPOSITORY} could not be fetched ({type(error).__name__}): the boxes on it will stay empty.")
    else:
        print(f"{REPOSITORY} is in {folder}.")


if __name__ == "__main__":
    main()
