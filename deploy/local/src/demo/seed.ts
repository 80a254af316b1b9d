import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isProvisioned, provision } from "@toolgate/key-auth/operator/provision";
import { loadJson, saveJson } from "@toolgate/local-servers/saved-json";
import { withPool } from "@toolgate/postgres/pool";
import { type DemoChat, makeDemoChat } from "./chat.ts";
import { type DemoUrls, prepareDemoData, prepareDemoDataAsAdmin } from "./demo-data.ts";
import { type DemoHook, makeDemoHook } from "./hook.ts";
import { loginTo, type Management } from "./management.ts";
import { receiverSecretFile } from "./receiver.ts";
import { DEMO_EXAMPLE, DEMO_KEY_TOOLS, DEMO_QUERIES, DEMO_TOOLS, DEMO_VARIABLES } from "./tools.ts";

type SeedInput = {
  baseUrl: string;
  databaseUrl: string;
  /** The logins for the demo's own data; without them, the database's administrator creates one. */
  demoUrls?: DemoUrls | undefined;
  dataDir: string;
  receiverUrl: string;
};

type SeedResult = {
  workspace: string;
  admin: { email: string; password: string };
  apiKey: string;
  example: { tool: string; args: Record<string, unknown> };
  hook: DemoHook;
  chat: DemoChat;
};

/** Incomplete after a start that was interrupted. */
type KeptDemo = Pick<SeedResult, "workspace" | "admin"> & Partial<SeedResult>;

const CHANGED = "(changed since)";
const WORKSPACE = "demo";
const ADMIN_EMAIL = "admin@demo.example";
const PASSWORD_BYTES = 12;
const EVENTS = ["tool.completed", "custom.*"];

/**
 * Creates the demo workspace at the first start on a database; later starts leave it unchanged. An existing user keeps
 * the old password.
 */
export async function seedDemo(input: SeedInput): Promise<SeedResult> {
  const file = join(input.dataDir, "demo.json");
  const kept = await loadJson<KeptDemo>(file);
  const account = { workspace: kept?.workspace ?? WORKSPACE, admin: kept?.admin ?? newAdmin() };
  const isNew = await withPool(input.databaseUrl, "demo", async (pool) => {
    if (await isProvisioned(pool, account.admin.email)) return false;
    // Written first: the start after an interrupted one continues with this password.
    await saveJson(file, account);
    await provision(pool, { workspace: account.workspace, ...account.admin, role: "admin" });
    return true;
  });
  const manage = await loginTo(input.baseUrl, { workspace: account.workspace, ...account.admin });
  const made = isNew ? undefined : complete(kept);
  if (made) return manage ? made : { ...made, admin: { ...made.admin, password: CHANGED } };
  if (!manage) throw new Error(lostPassword(account.admin.email, file));
  const rest = { ...account, ...(await makeDemo(manage, input)) };
  const demo = { ...rest, hook: await makeDemoHook(manage), chat: await makeDemoChat(manage) };
  await saveJson(file, demo);
  return demo;
}

async function makeDemo(manage: Management, input: SeedInput): Promise<Pick<SeedResult, "apiKey" | "example">> {
  const password = randomBytes(PASSWORD_BYTES).toString("hex");
  const dataUrl = input.demoUrls
    ? await prepareDemoData(input.demoUrls)
    : await prepareDemoDataAsAdmin(input.databaseUrl, password);
  await manage("tool_runner.v1.DataSourceService/SetDataSource", { url: dataUrl });
  for (const query of DEMO_QUERIES) await manage("tool_runner.v1.DataSourceService/SavePreparedQuery", { query });
  for (const variable of DEMO_VARIABLES) await manage("tool_runner.v1.DataSourceService/SaveVariable", { variable });
  await saveTools(manage, new URL(input.receiverUrl).origin);
  await saveEndpoint(manage, input);
  const key = { name: "Demo key", tools: DEMO_KEY_TOOLS, limit: 600 };
  const { secret } = await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key);
  return { apiKey: secret, example: DEMO_EXAMPLE };
}

function newAdmin(): SeedResult["admin"] {
  return { email: ADMIN_EMAIL, password: randomBytes(PASSWORD_BYTES).toString("base64url") };
}

function complete(demo: KeptDemo | undefined): SeedResult | undefined {
  // The chat is made last.
  return demo?.chat ? (demo as SeedResult) : undefined;
}

function lostPassword(email: string, file: string): string {
  return `the database has a user ${email} already, whose password is not in ${file}: put that file back, or choose another database (DATABASE_URL)`;
}

async function saveTools(manage: Management, rateServiceUrl: string): Promise<void> {
  for (const [name, tool] of Object.entries(DEMO_TOOLS)) {
    const definition = JSON.parse(JSON.stringify(tool).replaceAll("RATE_SERVICE_URL", rateServiceUrl));
    await manage("tool_runner.v1.ToolService/SaveTool", { name, definition, confirmExposure: true });
  }
}

async function saveEndpoint(manage: Management, { dataDir, receiverUrl }: SeedInput): Promise<void> {
  const rpc = (name: string) => `outbound_webhook.v1.EndpointService/${name}`;
  const { endpoints = [] } = await manage<{ endpoints?: { id: string; url: string }[] }>(rpc("ListEndpoints"), {});
  for (const { id, url } of endpoints) if (url === receiverUrl) await manage(rpc("DeleteEndpoint"), { endpointId: id });
  const { secret } = await manage<{ secret: string }>(rpc("CreateEndpoint"), {
    url: receiverUrl,
    events: EVENTS,
    description: "The small receiver next to this installation",
  });
  await writeFile(receiverSecretFile(dataDir), secret, { mode: 0o600 });
}
