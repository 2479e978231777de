// ai-sdk-provider-codex-cli, in its exec mode.

import { createCodexExec } from "ai-sdk-provider-codex-cli";

import { main } from "./play.mjs";

await main((codexPath) => {
  const provider = createCodexExec({ defaultSettings: { codexPath, skipGitRepoCheck: true, logger: false } });
  return { model: provider("mock-model"), close: () => {} };
});
