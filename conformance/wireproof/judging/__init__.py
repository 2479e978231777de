"""From exchanges to outcomes: checks, the judge, known failures, stored answers."""
