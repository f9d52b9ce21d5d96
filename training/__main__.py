"""`python -m training` makes the shipped model."""

from training.train import main

if __name__ == "__main__":
    main()
