// LangChain for JavaScript: `bindTools` with `invoke` and with `stream`, whose chunks are added up.
//
// `ChatOpenAI` would send a model called codex to /v1/responses, whatever `useResponsesApi` says; the halves of it are
// classes of their own.

import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAICompletions, ChatOpenAIResponses } from "@langchain/openai";

import { main, MAX_STEPS } from "./dialogue.mjs";

function connect(Model, { endpoint, dialogue, box }) {
  const model = new Model({
    model: endpoint.model,
    apiKey: endpoint.key,
    maxRetries: 0,
    timeout: 20_000,
    streamUsage: true,
    configuration: { baseURL: endpoint.url },
  });
  const bound = dialogue.parallel === null ? {} : { parallel_tool_calls: dialogue.parallel };
  return dialogue.tools.length ? model.bindTools(box.declared(), bound) : model;
}

function turn(message) {
  return {
    text: message.text,
    finish: message.response_metadata.finish_reason ?? message.response_metadata.status,
    usage: [message.usage_metadata?.input_tokens, message.usage_metadata?.output_tokens],
    calls: (message.tool_calls ?? []).map(({ id, name, args }, place) => ({
      id,
      name,
      arguments: args,
      raw: message.tool_call_chunks?.[place]?.args ?? null,
    })),
  };
}

const loop = (ask, Model) => async (play) => {
  const model = connect(Model, play);
  const messages = [new HumanMessage(play.dialogue.prompt)];
  const turns = [];
  while (turns.length < MAX_STEPS) {
    const message = await ask(model, messages, play.pieces);
    turns.push(turn(message));
    if (!message.tool_calls?.length) break;
    messages.push(message);
    for (const { id, name, args } of message.tool_calls) {
      messages.push(new ToolMessage({ tool_call_id: id, content: play.box.run(name, args) }));
    }
  }
  return turns;
};

const whole = (model, messages) => model.invoke(messages);

async function stream(model, messages, pieces) {
  let message;
  for await (const chunk of await model.stream(messages)) {
    if (chunk.text) pieces.push(chunk.text);
    message = message === undefined ? chunk : message.concat(chunk);
  }
  return message;
}

await main({
  whole: loop(whole, ChatOpenAICompletions),
  stream: loop(stream, ChatOpenAICompletions),
  "responses-whole": loop(whole, ChatOpenAIResponses),
  "responses-stream": loop(stream, ChatOpenAIResponses),
});
