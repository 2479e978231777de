"""aider, as a library. It declares no tools and asks for no schema: it edits by text, and says what did not match."""

from pathlib import Path

from asked import *

# Else it loads a list of prices from GitHub.
prices = Path.home() / ".aider" / "caches" / "model_prices_and_context_window.json"
prices.parent.mkdir(parents=True)
prices.write_text('{"none": {}}')
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from aider.coders import Coder  # noqa: E402
from aider.io import InputOutput  # noqa: E402
from aider.models import Model  # noqa: E402

NOTE = Path("weather.txt")
NOTE.write_text("nowhere\n")


class Saying(InputOutput):
    """Keeps the errors that are shown."""

    def tool_error(self, message="", **_more):
        """Note one."""
        errors.append(message)


errors = []


def coder(*, stream=False):
    errors.clear()
    io = Saying(yes=True, pretty=False, fancy_input=False)
    model = Model(f"openai/{MODEL}")
    return Coder.create(
        main_model=model, io=io, fnames=[str(NOTE)], use_git=False, stream=stream, map_tokens=0, auto_lint=False
    )


def run(text):
    said = coder().run(text)
    if not said:
        raise RuntimeError("\n".join(errors))
    return said


def edited():
    """What it says behind the edit, which it applies once it has told the model that the first one matched nothing."""
    said = run("Note where it is sunny.")
    RAN.append(NOTE.read_text().strip())
    return said.rpartition("```\n")[2]


main(
    text=lambda: run(HELLO),
    stream=lambda: [piece for piece in coder(stream=True).run_stream(HELLO) if piece],
    tool=edited,
    error=lambda: run(REFUSED),
    retry=lambda: run(FLAKY),
)
