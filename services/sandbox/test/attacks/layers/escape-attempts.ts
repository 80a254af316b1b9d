import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { detectIsolation, type Isolation, NO_ISOLATION } from "../../../src/isolation/detect.ts";
import { LAYERS } from "../../../src/isolation/layers.ts";
import { startSandboxServer } from "../../../src/server.ts";

/**
 * A process that does what the service sandbox does: it serves its port, and starts Node within the layers around a sandbox child, but without isolates and
 * without Node's permissions, and prints the layers and what that process could do.
 */
const ATTEMPTS = `
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const net = require("node:net");
const [pid, secretFile, port] = process.argv.slice(1);
const done = {};
const attempt = (name, act) => {
  try { done[name] = act() !== undefined; } catch { done[name] = false; }
};
const write = (path) => { fs.writeFileSync(path, "1"); fs.rmSync(path); return true; };
const connects = (target) => new Promise((resolve) => {
  const socket = net.connect(target, () => resolve(true));
  socket.on("error", () => resolve(false));
});
const visible = fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).map(Number);
for (const file of ["environ", "maps", "root/etc/passwd"]) {
  attempt("read " + file + " of the service", () => fs.readFileSync("/proc/" + pid + "/" + file).length);
}
attempt("open the memory of the service", () => fs.openSync("/proc/" + pid + "/mem"));
attempt("list the folder of the service", () => fs.readdirSync("/proc/" + pid + "/cwd"));
attempt("read a file of the service", () => fs.readFileSync(secretFile));
attempt("read the sources of the service", () => fs.readFileSync(${JSON.stringify(join(import.meta.dirname, "../../../../tool-runner/src/service.ts"))}));
attempt("read the users of the machine", () => fs.readFileSync("/etc/passwd"));
attempt("write a file", () => write("/tmp/escaped"));
attempt("write next to Node", () => write(process.execPath + ".escaped"));
attempt("write a source of the sandbox", () => fs.appendFileSync(${JSON.stringify(join(import.meta.dirname, "../../../src/child/main.ts"))}, "") ?? 1);
attempt("signal the service", () => process.kill(Number(pid), 0));
attempt("signal another process", () => visible.some((other) => other !== process.pid && process.kill(other, 0)) || undefined);
attempt("become another user", () => process.setuid(0) ?? process.setuid(1) ?? 1);
attempt("keep a capability", () => /CapEff:\\s*0*[1-9a-f]|CapBnd:\\s*0*[1-9a-f]/.test(fs.readFileSync("/proc/self/status", "utf8")) || undefined);
attempt("gain privileges", () => /NoNewPrivs:\\s*0/.test(fs.readFileSync("/proc/self/status", "utf8")) || undefined);
attempt("find a variable", () => Object.keys(process.env)[0]);
attempt("start a program", () => spawnSync("/bin/true").status === 0 || undefined);
(async () => {
  done["open a connection to the sandbox process"] = await connects({ host: "127.0.0.1", port: Number(port) });
  process.stdout.write(JSON.stringify(done));
  process.exit();
})();`;

/** What Node has no function for, in Perl: each ends with 0 if it could do it. */
const number = (x64: number, arm64: number) => (process.arch === "arm64" ? arm64 : x64);
const CALLS: Readonly<Record<string, string>> = {
  "open a socket": "use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or exit 1",
  "open a pair of sockets": "use Socket; socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or exit 1",
  "make a namespace": `exit(syscall(${number(272, 97)}, 0x10000000) == 0 ? 0 : 1)`,
  "trace a process": `exit(syscall(${number(101, 117)}, 0, 0, 0, 0) == 0 ? 0 : 1)`,
  "keep a key in the kernel": `exit(syscall(${number(250, 219)}, 0, -3, 1) >= 0 ? 0 : 1)`,
  "keep memory outside of itself": `exit(syscall(${number(29, 194)}, 0, 4096, 01600) >= 0 ? 0 : 1)`,
  "fork a process": "my $p = fork(); exit 1 unless defined $p; exit 0 unless $p; waitpid($p, 0); exit 0",
};
const FORK_A_THOUSAND =
  "my $n = 0; for (1..1000) { my $p = fork(); last unless defined $p; if (!$p) { sleep 20; exit } $n++ } exit($n > 500 ? 0 : 1)";

/** `none`: the control, which must succeed in nearly everything, without harm to the machine. */
const isControl = process.argv[2] === "none";
const isolation = isControl ? NO_ISOLATION : detectIsolation();
const folder = await mkdtemp(join(tmpdir(), "escape-"));
const secretFile = join(folder, "secret");
await writeFile(secretFile, "secret");
const tokenHash = createHash("sha256").update("the token").digest("hex");
const server = await startSandboxServer({ host: "127.0.0.1", port: 0, tokenHashes: [tokenHash], isolation });

/** What a program within the layers writes, and how it ends. */
async function run({ wrap }: Isolation, command: string[]): Promise<{ output: string; code: number | null }> {
  const [file = "", ...args] = wrap(command);
  const child = spawn(file, args, { env: {}, cwd: "/", stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const output = await text(child.stdout);
  const [code] = await ended;
  child.kill("SIGKILL");
  return { output, code };
}

const attempts = [process.execPath, "-e", ATTEMPTS, String(process.pid), secretFile, String(server.port)];
const { output } = await run(isolation, attempts);
const done = JSON.parse(output) as Record<string, boolean>;
for (const [name, code] of Object.entries(CALLS)) {
  done[name] = (await run(isolation, ["/usr/bin/perl", "-e", code])).code === 0;
}
// The filter allows not even one, so the other layers are tried without it.
const unfiltered = isControl ? isolation : detectIsolation(LAYERS.filter((layer) => layer !== "seccomp"));
done["fork a thousand processes"] =
  isControl || (await run(unfiltered, ["/usr/bin/perl", "-e", FORK_A_THOUSAND])).code === 0;
await server[Symbol.asyncDispose]();
await rm(folder, { recursive: true });
console.log(JSON.stringify({ layers: [...isolation.layers], done }));
