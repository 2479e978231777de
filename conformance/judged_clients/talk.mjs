// What the programs in JavaScript share: the prompts on standard input, and the tool.
import { createInterface } from "node:readline";

export const MODEL = "gpt-4.1";
export const PARAMETERS = {
  type: "object",
  properties: { query: { type: "string" } },
  required: ["query"],
  additionalProperties: false,
};
export const FUNCTION = { name: "look_up", description: "Look something up.", parameters: PARAMETERS };
export const lookUp = ({ query }) => `found ${query.length} characters`;

/** The result of a call, as the guides of tools show it: an error is a result, too. */
export function run(name, args) {
  if (name !== FUNCTION.name) return `error: there is no tool ${name}`;
  try {
    return lookUp(JSON.parse(args));
  } catch (error) {
    return `error: ${error.message}`;
  }
}

/** Ask each line of standard input; what fails is printed, and the conversation goes on. */
export async function talk(ask) {
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      console.log(await ask(line));
    } catch (error) {
      console.error(`failed: ${error.message}`);
    }
  }
}
