import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { provision } from "@toolgate/key-auth/provision";
import { createPool } from "@toolgate/postgres/pool";
import { prepareDemoData } from "./demo-data.ts";
import { loginTo, type Management } from "./management.ts";
import { receiverSecretFile } from "./receiver.ts";
import { DEMO_EXAMPLE, DEMO_KEY_TOOLS, DEMO_QUERIES, DEMO_TOOLS, DEMO_VARIABLES } from "./tools.ts";

export type SeedInput = { baseUrl: string; databaseUrl: string; dataDir: string; receiverUrl: string };

export type SeedResult = {
  workspace: string;
  admin: { email: string; password: string };
  apiKey: string;
  example: { tool: string; args: Record<string, unknown> };
};

const WORKSPACE = "demo";
const ADMIN_EMAIL = "admin@demo.example";
const PASSWORD_BYTES = 12;
const EVENTS = ["tool.completed", "custom.*"];

/** Makes the demo workspace at the first start of a data folder; later starts find it as it was left. */
export async function seedDemo(input: SeedInput): Promise<SeedResult> {
  const file = join(input.dataDir, "demo.json");
  const kept = await readFile(file, "utf8").then(
    (text) => JSON.parse(text) as SeedResult,
    () => undefined,
  );
  // Another database behind the same folder does not know the password.
  if (kept && (await loginTo(input.baseUrl, { workspace: kept.workspace, ...kept.admin }))) return kept;
  const made = await makeDemo(input);
  await writeFile(`${file}.new`, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return made;
}

async function makeDemo(input: SeedInput): Promise<SeedResult> {
  const admin = { email: ADMIN_EMAIL, password: randomBytes(PASSWORD_BYTES).toString("base64url") };
  const account = { workspace: WORKSPACE, ...admin };
  await provisionAdmin(input.databaseUrl, account);
  const manage = await loginTo(input.baseUrl, account);
  if (!manage) throw new Error("the demo's administrator cannot log in");
  const dataPassword = randomBytes(PASSWORD_BYTES).toString("hex");
  const dataUrl = await prepareDemoData(input.databaseUrl, dataPassword);
  await manage("tool_runner.v1.DataSourceService/SetDataSource", { url: dataUrl });
  for (const query of DEMO_QUERIES) await manage("tool_runner.v1.DataSourceService/SavePreparedQuery", { query });
  for (const variable of DEMO_VARIABLES) await manage("tool_runner.v1.DataSourceService/SaveVariable", { variable });
  await saveTools(manage, new URL(input.receiverUrl).origin);
  await saveEndpoint(manage, input);
  const key = { name: "Demo key", tools: DEMO_KEY_TOOLS, limit: 600 };
  const { secret } = await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key);
  return { workspace: WORKSPACE, admin, apiKey: secret, example: DEMO_EXAMPLE };
}

async function provisionAdmin(databaseUrl: string, account: { workspace: string; email: string; password: string }) {
  const pool = createPool({ url: databaseUrl, maxConnections: 1, applicationName: "demo" });
  try {
    await provision(pool, { ...account, role: "admin" });
  } finally {
    await pool.end();
  }
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
    description: "The small receiver beside this installation",
  });
  await writeFile(receiverSecretFile(dataDir), secret, { mode: 0o600 });
}
