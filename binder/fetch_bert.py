"""Puts bert-base-uncased into the image, for the boxes named after it. Without a hub the build goes on without."""

from huggingface_hub import snapshot_download

from lesson_kit._models import HUB_NAMES, REVISIONS, WANTED_FILES

REPOSITORY = HUB_NAMES["bert-base-uncased"]


def main() -> None:
    try:
        folder = snapshot_download(REPOSITORY, revision=REVISIONS[REPOSITORY], allow_patterns=WANTED_FILES)
    except Exception as error:  # whatever it is, only the boxes need this model
        print(f"{REPOSITORY} could not be fetched ({type(error).__name__}): the boxes on it will stay empty.")
    else:
        print(f"{REPOSITORY} is in {folder}.")


if __name__ == "__main__":
    main()
