// The `openai` package on responses: whole answers, plain streams, the `.stream` helper, `parse`, stored responses.

import { isDeepStrictEqual } from "node:util";

import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

import { call, main, MAX_STEPS } from "./dialogue.mjs";

/** What texts are parsed into where a dialogue has a schema. */
const Place = z.object({ name: z.string(), height: z.number() });

const whole = (client, body) => client.responses.create(body);

/** The plain stream; the items are taken as their `done` events tell them, which must be what the end tells. */
async function stream(client, body, { pieces }) {
  const items = [];
  for await (const event of await client.responses.create({ ...body, stream: true })) {
    if (event.type === "response.output_text.delta") pieces.push(event.delta);
    if (event.type === "response.output_item.done") items.push(event.item);
    if (event.type === "response.completed") {
      if (!isDeepStrictEqual(items, event.response.output)) throw new Error("the items were others in the end");
      const text = items.flatMap(({ type, content }) => (type === "message" ? content.map((part) => part.text) : []));
      return { ...event.response, output_text: text.join("") };
    }
  }
  throw new Error("no end");
}

/** The items as they are done, and nothing but that there is an end. */
async function joined(client, body, { pieces }) {
  const items = [];
  let last;
  for await (const event of await client.responses.create({ ...body, stream: true })) {
    if (event.type === "response.output_text.delta") pieces.push(event.delta);
    if (event.type === "response.output_item.done") items.push(event.item);
    if (event.type === "response.completed") last = event.response;
  }
  if (last === undefined) throw new Error("no end");
  return { ...last, output: items, output_text: pieces.join("") };
}

function helper(client, body, { pieces }) {
  const running = client.responses.stream(body);
  running.on("response.output_text.delta", ({ delta }) => pieces.push(delta));
  return running.finalResponse();
}

async function parse(client, body, { dialogue, parsed }) {
  if (!dialogue.schema) return client.responses.parse(body);
  const response = await client.responses.parse({ ...body, text: { format: zodTextFormat(Place, "Place") } });
  parsed.push(response.output_parsed);
  return response;
}

function turn({ status, output, output_text: said, usage }) {
  return {
    text: said,
    finish: status,
    usage: [usage?.input_tokens, usage?.output_tokens],
    calls: output
      .filter(({ type }) => type === "function_call")
      .map(({ call_id: id, name, arguments: raw }) => call(id, name, raw)),
  };
}

/** The loop that an application writes by hand; `stored`: all but the news is remembered by the other side. */
const loop = (ask, stored = false) => async (play) => {
  const { endpoint, dialogue, box } = play;
  const client = new OpenAI({ baseURL: endpoint.url, apiKey: endpoint.key, maxRetries: 0, timeout: 20_000 });
  let body = {
    model: endpoint.model,
    input: [{ role: "user", content: dialogue.prompt }],
    ...(dialogue.tools.length && { tools: box.functions() }),
    ...(dialogue.parallel !== null && { parallel_tool_calls: dialogue.parallel }),
  };
  const turns = [];
  while (turns.length < MAX_STEPS) {
    const response = await ask(client, body, play);
    turns.push(turn(response));
    const { calls } = turns.at(-1);
    if (!calls.length) break;
    const results = calls.map(({ id, name, arguments: args }) => ({
      type: "function_call_output",
      call_id: id,
      output: box.run(name, args),
    }));
    body = stored
      ? { ...body, previous_response_id: response.id, input: results }
      : { ...body, input: [...body.input, ...response.output, ...results] };
  }
  return turns;
};

await main({
  whole: loop(whole),
  stream: loop(stream),
  joined: loop(joined),
  helper: loop(helper),
  parse: loop(parse),
  stored: loop(whole, true),
  "stored-helper": loop(helper, true),
});
