// `node claude_code_router.cjs PORT BASE_URL KEY`: the engine of claude-code-router in front of an OpenAI-compatible model.
//
// As the router starts it, with one provider and no rules of its own; a model is asked for as `upstream,codex`.

const { default: Server } = require("@musistudio/llms");

const [port, upstream, key] = process.argv.slice(2);
new Server({
  initialConfig: {
    providers: [{ name: "upstream", api_base_url: `${upstream}/chat/completions`, api_key: key, models: ["codex"] }],
    HOST: "127.0.0.1",
    PORT: Number(port),
    LOG: false,
  },
  logger: false,
}).start();
