"""Puts bert-base-uncased into the image. Without a hub the build goes on: the lessons use course-bert then."""

from pathlib import Path

from huggingface_hub import snapshot_download

REPOSITORY = "google-bert/bert-base-uncased"
# The commit at the top of the repository's main branch when this was written, as
# https://huggingface.co/google-bert/bert-base-uncased/commits/main lists it and caches name their folder.
REVISION = "86b5e0934494bd15c9632b12f734a8a67f723594"
WANTED = ["*.json", "*.txt", "*.safetensors"]


def main() -> None:
    try:
        folder = Path(snapshot_download(REPOSITORY, revision=REVISION, allow_patterns=WANTED))
        # load_bert asks the cache for "main", and a download by commit does not say that this is it.
        main_branch = folder.parent.parent / "refs" / "main"
        main_branch.parent.mkdir(exist_ok=True)
        main_branch.write_text(REVISION, encoding="utf-8")
    except Exception as error:  # whatever it is, the lessons run without
        print(f"{REPOSITORY} could not be fetched ({type(error).__name__}): the lessons will use course-bert.")
    else:
        print(f"{REPOSITORY} is in {folder}.")


if __name__ == "__main__":
    main()
