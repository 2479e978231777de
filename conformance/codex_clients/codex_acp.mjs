// @agentclientprotocol/codex-acp: an agent of the Agent Client Protocol over stdio, in front of `codex app-server`.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

const asked = JSON.parse(await text(process.stdin));
const told = {};
for (const [name, one] of Object.entries(asked)) told[name] = await play(one);
process.stdout.write(JSON.stringify(told));

async function play({ codex, prompt, interrupt }) {
  const turn = { text: null, pieces: [], end: "", error: null, usage: null, ran: [] };
  const agent = connect(codex, (method, params) => {
    const update = params.update ?? {};
    if (method === "session/request_permission") {
      return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
    } else if (update.sessionUpdate === "agent_message_chunk") {
      turn.pieces.push(update.content.text);
      if (interrupt) agent.send({ method: "session/cancel", params: { sessionId: params.sessionId } });
    } else if (update.sessionUpdate === "tool_call") {
      turn.ran.push(update.rawInput.command);
    }
  });
  try {
    await agent.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await agent.ask("session/new", { cwd: process.cwd(), mcpServers: [] });
    const { stopReason, usage } = await agent.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] });
    turn.end = { end_turn: "completed", cancelled: "interrupted" }[stopReason];
    turn.text = turn.pieces.join("");
    turn.usage = usage ? [usage.inputTokens, usage.outputTokens] : null;
  } catch (error) {
    turn.end = "failed";
    turn.error = error.message;
  } finally {
    agent.close();
  }
  return turn;
}

function connect(codex, receive) {
  const program = "node_modules/@agentclientprotocol/codex-acp/dist/index.js";
  const child = spawn(process.execPath, [new URL(program, import.meta.url).pathname], {
    env: { ...process.env, CODEX_PATH: codex },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map();
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, method, params, result, error } = JSON.parse(line);
    if (method && id !== undefined) send({ id, result: receive(method, params) ?? null });
    else if (method) receive(method, params);
    else if (error) waiting.get(id).reject(new Error(error.data?.details ?? error.data?.message ?? error.message));
    else waiting.get(id).resolve(result);
  });
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set(waiting.size + 1, { resolve, reject });
      send({ id: waiting.size, method, params });
    });
  return { ask, send, close: () => child.kill() };
}
