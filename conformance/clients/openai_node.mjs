// The `openai` package: whole answers, streams joined by hand, the `.stream` helper, and `runTools` in both modes.

import OpenAI from "openai";

import { call, main, MAX_STEPS } from "./dialogue.mjs";

const connect = ({ url, key }) => new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0, timeout: 20_000 });

function request({ endpoint, dialogue, box }, streamed) {
  return {
    model: endpoint.model,
    ...(dialogue.tools.length && { tools: box.declared() }),
    ...(dialogue.parallel !== null && { parallel_tool_calls: dialogue.parallel }),
    ...(streamed && { stream: true, stream_options: { include_usage: true } }),
  };
}

function turn({ choices: [{ message, finish_reason: finish }], usage }) {
  return {
    text: message.content ?? "",
    finish,
    usage: [usage?.prompt_tokens, usage?.completion_tokens],
    calls: (message.tool_calls ?? []).map((made) => call(made.id, made.function.name, made.function.arguments)),
  };
}

/** The loop that an application writes by hand. */
const loop = (ask, streamed) => async (play) => {
  const client = connect(play.endpoint);
  const messages = [{ role: "user", content: play.dialogue.prompt }];
  const turns = [];
  while (turns.length < MAX_STEPS) {
    const completion = await ask(client, { ...request(play, streamed), messages }, play.pieces);
    const { message } = completion.choices[0];
    turns.push(turn(completion));
    if (!message.tool_calls?.length) break;
    messages.push(message);
    for (const { id, name, arguments: args } of turns.at(-1).calls) {
      messages.push({ role: "tool", tool_call_id: id, content: play.box.run(name, args) });
    }
  }
  return turns;
};

const whole = loop((client, body) => client.chat.completions.create(body), false);

const stream = loop((client, body, pieces) => {
  const helper = client.chat.completions.stream(body);
  helper.on("content", (delta) => pieces.push(delta));
  return helper.finalChatCompletion();
}, true);

const joined = loop(async (client, body, pieces) => {
  const message = { role: "assistant", content: "" };
  const calls = new Map();
  let [finish, usage] = [null, undefined];
  for await (const chunk of await client.chat.completions.create(body)) {
    usage = chunk.usage ?? usage;
    for (const { delta, finish_reason: end } of chunk.choices ?? []) {
      finish = end ?? finish;
      message.content += delta?.content ?? "";
      if (delta?.content) pieces.push(delta.content);
      for (const { index, id, function: made } of delta?.tool_calls ?? []) {
        if (!calls.has(index)) calls.set(index, { id, type: "function", function: { name: "", arguments: "" } });
        calls.get(index).function.name += made?.name ?? "";
        calls.get(index).function.arguments += made?.arguments ?? "";
      }
    }
  }
  if (calls.size) message.tool_calls = [...calls.values()];
  return { choices: [{ message, finish_reason: finish }], usage };
}, true);

const runTools = (streamed) => async (play) => {
  const { dialogue, box, pieces } = play;
  const tools = dialogue.tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters, parse: JSON.parse, function: (args) => box.run(name, args) },
  }));
  const messages = [{ role: "user", content: dialogue.prompt }];
  const runner = connect(play.endpoint).chat.completions.runTools(
    { ...request(play, streamed), messages, tools },
    { maxChatCompletions: MAX_STEPS },
  );
  if (streamed) runner.on("content", (delta) => pieces.push(delta));
  await runner.done();
  return runner.allChatCompletions().map(turn);
};

await main({ whole, stream, joined, "run-tools": runTools(true), "run-tools-whole": runTools(false) });
