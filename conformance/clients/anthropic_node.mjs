// The `@anthropic-ai/sdk` package: whole answers, the `.stream` helper, and the tool runner, with threads and without.

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";

import { main, MAX_STEPS } from "./dialogue.mjs";

const MAX_TOKENS = 1024;

const connect = ({ url, key }) =>
  // The package adds /v1 itself.
  new Anthropic({ baseURL: url.replace(/\/v1$/, ""), apiKey: key, maxRetries: 0, timeout: 20_000 });

const request = ({ endpoint, dialogue }) => ({
  model: endpoint.model,
  max_tokens: MAX_TOKENS,
  ...(dialogue.parallel !== null && {
    tool_choice: { type: "auto", disable_parallel_tool_use: !dialogue.parallel },
  }),
});

function turn({ content, stop_reason: finish, usage }) {
  const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
  return {
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    finish,
    usage: [usage.input_tokens + cached, usage.output_tokens],
    calls: content
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id, name, arguments: input, raw: null })),
  };
}

/** The loop that an application writes by hand. */
const loop = (ask) => async (play) => {
  const { dialogue, box } = play;
  const tools = dialogue.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  const client = connect(play.endpoint);
  const messages = [{ role: "user", content: dialogue.prompt }];
  const turns = [];
  while (turns.length < MAX_STEPS) {
    const message = await ask(client, { ...request(play), messages, ...(tools.length && { tools }) }, play.pieces);
    turns.push(turn(message));
    if (!turns.at(-1).calls.length) break;
    messages.push({ role: "assistant", content: message.content });
    messages.push({
      role: "user",
      content: turns.at(-1).calls.map(({ id, name, arguments: args }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: box.run(name, args),
      })),
    });
  }
  return turns;
};

const whole = loop((client, body) => client.messages.create(body));

const streamed = (stream, pieces) => {
  stream.on("text", (delta) => pieces.push(delta));
  return stream.finalMessage();
};

const stream = loop((client, body, pieces) => streamed(client.messages.stream(body), pieces));

const runner = (more) => async (play) => {
  const { dialogue, box, pieces } = play;
  const tools = dialogue.tools.map(({ name, description, parameters }) =>
    betaTool({ name, description, inputSchema: parameters, run: (args) => box.run(name, args) }),
  );
  const running = connect(play.endpoint).beta.messages.toolRunner({
    ...request(play),
    messages: [{ role: "user", content: dialogue.prompt }],
    tools,
    max_iterations: MAX_STEPS,
    ...more,
  });
  const turns = [];
  for await (const one of running) turns.push(turn(more.stream ? await streamed(one, pieces) : one));
  return turns;
};

await main({
  whole,
  stream,
  "runner-whole": runner({}),
  runner: runner({ stream: true }),
  "runner-unthreaded-whole": runner({ thread: false }),
  "runner-unthreaded": runner({ stream: true, thread: false }),
});
