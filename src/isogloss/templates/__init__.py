"""The template language: slots, words that agree, vocabularies; sentences and items come out."""
