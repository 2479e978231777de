// What every JavaScript client program shares: dialogues come in on stdin as JSON, what became of them goes out on stdout.
//
// In:  {key, model, dialogues: [{url, prompt, tools: [{name, description, parameters, result}], parallel: true | null,
//        schema}]}; `schema` is the JSON Schema that texts are to match, or null.
// Out: [{turns: [{text, finish, usage: [input, output], calls: [{id, name, arguments, raw}]}], ran: [{name, arguments}],
//        pieces, parsed}] or {error} in the place of a dialogue that failed. `finish` is the client's word for how the
//        answer ended, null if it has none; `raw` is the text of the arguments where the client keeps it, else null;
//        `pieces` are the deltas of text of a streaming client, in order, else []; `parsed` is what was read of texts.
// The client's way of doing it is named by the first argument.

import { text } from "node:stream/consumers";

export const MAX_STEPS = 5;

const direct = globalThis.fetch;
globalThis.fetch = (resource, options) => {
  const { hostname } = new URL(resource.url ?? resource);
  if (hostname !== "127.0.0.1") throw new Error(`a request to ${hostname}: only loopback is allowed`);
  return direct(resource, options);
};

/** Runs tools, and remembers which, with which arguments, in order. */
export class Toolbox {
  ran = [];

  constructor(tools) {
    this.tools = tools;
  }

  run(name, args) {
    const found = this.tools.find((tool) => tool.name === name);
    if (found === undefined) return `there is no tool ${name}`;
    this.ran.push({ name, arguments: args });
    return found.result;
  }

  /** The tools as chat requests declare them. */
  declared() {
    return this.tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
  }

  /** The tools as responses requests declare them. */
  functions() {
    return this.declared().map(({ type, function: declared }) => ({ type, strict: false, ...declared }));
  }
}

/** A tool call whose arguments are told as text. */
export const call = (id, name, raw) => ({ id, name, raw, arguments: JSON.parse(raw) });

/** Play all dialogues in the way that the command line names. */
export async function main(ways) {
  const { dialogues, ...account } = JSON.parse(await text(process.stdin));
  const way = ways[process.argv[2]];
  const played = [];
  for (const dialogue of dialogues) {
    const box = new Toolbox(dialogue.tools);
    const endpoint = { ...account, url: dialogue.url };
    const [pieces, parsed] = [[], []];
    try {
      const turns = await way({ endpoint, dialogue, box, pieces, parsed });
      played.push({ turns, ran: box.ran, pieces, parsed });
    } catch (error) {
      played.push({ error: String(error?.stack ?? error) });
    }
  }
  process.stdout.write(JSON.stringify(played));
}
