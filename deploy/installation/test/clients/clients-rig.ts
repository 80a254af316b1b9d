import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runToolgate } from "../running-toolgate.ts";

/** Where `make verify` has installed the generators; other tests do without them. */
export const MODULES = fileURLToPath(new URL("../../../clients/node_modules", import.meta.url));
const DATA = fileURLToPath(new URL("../../../../.data", import.meta.url));
/** Where it has installed what is written in Python, on a machine that has Python. */
export const PYTHON = join(MODULES, ".python/bin");
export const hasPython = existsSync(join(PYTHON, "openapi-python-client"));
export const run = promisify(execFile);

const NODE = { type: "object", properties: { next: { $ref: "#/definitions/node" } } };
const GREET = {
  external_api: true,
  parameters: {
    type: "object",
    properties: {
      name: { type: "string", maxLength: 20 },
      anything: true,
      nothing: false,
      tree: { $ref: "#/definitions/node" },
    },
    required: ["name"],
    definitions: { node: NODE },
  },
  external_api_response: {
    type: "object",
    properties: { greeting: { type: "string" }, visits: { type: "integer" }, score: { type: "number" } },
    required: ["greeting"],
  },
  // Numbers that neither 32 bits nor single precision hold.
  handler: "export default ({ name }) => ({ greeting: 'Hello ' + name, visits: 9007199254740991, score: 1234567.89 });",
};
/** Its result has no schema. */
const FIND_ORDERS = {
  external_api: true,
  parameters: { type: "object", properties: { city: { type: ["string", "null"], enum: ["Bern", null] } } },
  handler: "export default () => ({ success: true, orders: [{ item: 'lamp' }] });",
};

/** A Toolgate with two tools and a key for them, and a folder with the key's OpenAPI document. */
export async function clientsRig() {
  await using resources = new AsyncDisposableStack();
  const toolgate = resources.use(await runToolgate("single"));
  await toolgate.saveTool("greet", GREET);
  await toolgate.saveTool("find-orders", FIND_ORDERS);
  const { secret } = await toolgate.createKey({ name: "k", tools: ["greet", "find-orders"], limit: 100 });
  await mkdir(DATA, { recursive: true });
  const folder = await mkdtemp(join(DATA, "clients-"));
  resources.defer(() => rm(folder, { recursive: true }));
  await symlink(MODULES, join(folder, "node_modules"));
  const headers = { authorization: `Bearer ${secret}` };
  const { text } = await toolgate.request("/api/v1/openapi.json", { headers });
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(join(folder, "openapi.json"), text);
  const environment = { ...process.env, SERVICE_API_KEY: secret, TOOLGATE_URL: toolgate.baseUrl, DOCUMENT: text };
  const disposal = resources.move();
  return { toolgate, secret, folder, environment, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}
