import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { codeOf } from "@toolgate/testbed/rpc-errors";
import { serversOfRun } from "@toolgate/testbed/servers/servers-of-run";
import { verify } from "@toolgate/webhook-signing/verify";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { curlCommand } from "../../src/domain/curl-command.ts";
import { type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const DEADLINE_MS = 60_000;
const MAX_OUTPUT_BYTES = 1_000_000;

const SHELLS = ["sh", "bash", "dash", "zsh", "ksh", "busybox"].filter(isThere);

function isThere(name: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${name}`]);
    return true;
  } catch {
    return false;
  }
}

describe("a delivery as a curl command", () => {
  let rig: OutboundRig;
  let caFile: string;
  beforeAll(async () => {
    rig = await startOutboundRig();
    caFile = join(await mkdtemp(join(serversOfRun().runFolder, "curl-")), "ca.pem");
    await writeFile(caFile, rig.receiver.ca ?? "");
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  /** Runs the command as the input of a shell. */
  function paste(command: string, shell = "sh"): Promise<string> {
    const env = { PATH: process.env.PATH, CURL_CA_BUNDLE: caFile, LC_ALL: "C" };
    const args = shell === "busybox" ? ["sh"] : [];
    return new Promise((resolve, reject) => {
      const options = { env, timeout: DEADLINE_MS, maxBuffer: MAX_OUTPUT_BYTES };
      const child = execFile(shell, args, options, (error, out, err) =>
        error ? reject(new Error(err)) : resolve(out),
      );
      child.stdin?.end(command);
    });
  }

  async function delivered(workspaceId: string, dataJson: string) {
    await rig.report({ workspaceId, dataJson });
    return (await rig.delivery(workspaceId, { attempts: 1 })).id;
  }

  it("[OUT-18] [OUT-22] [OUT-28] pasted into a shell, it sends the exact body again, newly signed, and contains no secret", async () => {
    const workspaceId = "w-curl";
    const { secret } = await rig.register(workspaceId, "/it's?a=[1]&b={2,3}&$HOME`id`");
    const dataJson = `{"quotes":"it's \\"so\\"","lines":"a\\nb\\\\n",\n\t"umlauts":"Grüße €😀","shell":"$HOME \`id\` !! %s \\\\ # ~"}`;
    const deliveryId = await delivered(workspaceId, dataJson);
    rig.clock.advance(90_000);
    const client = rig.deliveries({ workspaceId });
    const { command, signedAt, validUntil } = await client.getDeliveryAsCurl({ deliveryId });
    const [original] = rig.receiver.requests.slice(-1);
    expect(SHELLS).toContain("sh");
    for (const shell of SHELLS) {
      const before = rig.receiver.requests.length;
      expect(await paste(command, shell)).toMatch(/^HTTP\/1\.1 200/);
      const [again] = rig.receiver.requests.slice(before);
      expect(again?.path).toBe(original?.path);
      expect(again?.body.equals(original?.body ?? Buffer.alloc(0)), shell).toBe(true);
      const signature = String(again?.headers["x-service-signature"]);
      const now = Math.floor(rig.clock.now().getTime() / 1000);
      expect(verify({ secret, header: signature, body: again?.body ?? "", now, toleranceSeconds: 30 }).ok).toBe(true);
      expect(Number(signedAt?.seconds)).toBe(Number(/t=(\d+)/.exec(signature)?.[1]));
      const {
        "x-service-signature": _,
        "webhook-signature": __,
        "webhook-timestamp": ___,
        ...sent
      } = original?.headers ?? {};
      const { connection, ...same } = sent;
      expect(again?.headers).toMatchObject(same);
    }
    expect(Number(validUntil?.seconds) - Number(signedAt?.seconds)).toBe(300);
    expect(command).toContain(`signed for this command at ${new Date(Number(signedAt?.seconds) * 1000).toISOString()}`);
    expect(command).not.toContain(secret.slice("whsec_".length));
    expect(command).not.toContain("whsec_");
  });

  it("[OUT] any bytes arrive unchanged, through any available shell", async () => {
    const anyBytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 3_000 }),
      fc.string({ unit: "binary", minLength: 1 }).map((text) => new TextEncoder().encode(text)),
      fc
        .constantFrom("%s%%", "\\\\n", "'", "''", "-n", "@/etc/passwd", "\\0101", "a\r\nb", "\n", "\t!!", "\\")
        .map((text) => Buffer.from(text)),
    );
    const at = new Date();
    await fc.assert(
      fc.asyncProperty(anyBytes, fc.constantFrom(...SHELLS), async (body, shell) => {
        const before = rig.receiver.requests.length;
        const headers = { "content-type": "application/json", "x-quote": "it's $HOME" };
        await paste(
          curlCommand({ url: `${rig.receiver.url}/any`, headers, body, signedAt: at, validUntil: at }),
          shell,
        );
        const [arrived] = rig.receiver.requests.slice(before);
        expect(arrived?.body.equals(body)).toBe(true);
        expect(arrived?.headers).toMatchObject(headers);
      }),
      { numRuns: 40 },
    );
  });

  it("[OUT-9] [OUT-10] uses the URL and secret that the endpoint has now, also while inactive; not once it is deleted", async () => {
    const workspaceId = "w-curl-now";
    const { id: endpointId } = await rig.register(workspaceId, "/old");
    const deliveryId = await delivered(workspaceId, "{}");
    const endpoints = rig.endpoints({ workspaceId });
    const client = rig.deliveries({ workspaceId });
    await endpoints.updateEndpoint({ endpointId, url: `${rig.receiver.url}/new`, active: false });
    const { secret } = await endpoints.rotateSecret({ endpointId });
    await paste((await client.getDeliveryAsCurl({ deliveryId })).command);
    const [again] = rig.requestsTo("/new");
    const header = String(again?.headers["x-service-signature"]);
    const now = Math.floor(rig.clock.now().getTime() / 1000);
    expect(verify({ secret, header, body: again?.body ?? "", now }).ok).toBe(true);
    await endpoints.deleteEndpoint({ endpointId });
    expect(await client.getDeliveryAsCurl({ deliveryId }).catch(codeOf)).toBe(Code.FailedPrecondition);
  });
});
