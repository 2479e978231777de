"""One request answered: chat completions, responses, stored responses."""
