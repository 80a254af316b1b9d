import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { detectIsolation, NO_ISOLATION } from "../../src/sandbox/isolation/detect.ts";
import { startSandboxServer } from "../../src/sandbox/processes/remote/server.ts";

/**
 * A process that does what the role sandbox does: it serves its socket, and starts Node within the layers around a sandbox child, but without isolates and
 * without Node's permissions, and prints the layers and what that process could do.
 */
const ATTEMPTS = `
const { spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const net = require("node:net");
const [pid, secretFile, port, forks] = process.argv.slice(1);
const tries = Number(forks);
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
attempt("read the sources of the service", () => fs.readFileSync(${JSON.stringify(join(import.meta.dirname, "../../package.json"))}));
attempt("read the users of the machine", () => fs.readFileSync("/etc/passwd"));
attempt("write a file", () => write("/tmp/escaped"));
attempt("write next to Node", () => write(process.execPath + ".escaped"));
attempt("write a source of the sandbox", () => fs.appendFileSync(${JSON.stringify(join(import.meta.dirname, "../../src/sandbox/child/main.ts"))}, "") ?? 1);
attempt("signal the service", () => process.kill(Number(pid), 0));
attempt("signal another process", () => visible.some((other) => other !== process.pid && process.kill(other, 0)) || undefined);
attempt("become another user", () => process.setuid(0) ?? process.setuid(1) ?? 1);
attempt("keep a capability", () => /CapEff:\\s*0*[1-9a-f]|CapBnd:\\s*0*[1-9a-f]/.test(fs.readFileSync("/proc/self/status", "utf8")) || undefined);
attempt("gain privileges", () => /NoNewPrivs:\\s*0/.test(fs.readFileSync("/proc/self/status", "utf8")) || undefined);
attempt("find a variable", () => Object.keys(process.env)[0]);
// Node has no function for these; the numbers are those of x86_64 and arm64.
const perl = (code) => spawnSync("/usr/bin/perl", ["-e", code]).status === 0 || undefined;
const number = (x64, arm64) => (process.arch === "arm64" ? arm64 : x64);
attempt("open a socket", () => perl("use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or exit 1"));
attempt("make a namespace", () => perl("exit(syscall(" + number(272, 97) + ", 0x10000000) == 0 ? 0 : 1)"));
attempt("trace a process", () => perl("exit(syscall(" + number(101, 117) + ", 0, 0, 0, 0) == 0 ? 0 : 1)"));
attempt("keep a key in the kernel", () => perl("exit(syscall(" + number(250, 219) + ", 0, -3, 1) >= 0 ? 0 : 1)"));
(async () => {
  done["open a connection to the sandbox process"] = await connects({ host: "127.0.0.1", port: Number(port) });
  const forked = tries === 0 ? [] : await Promise.all(Array.from({ length: tries }, () => new Promise((resolve) => {
    try {
      const child = spawn("/bin/sleep", ["20"], { stdio: "ignore" });
      child.on("spawn", () => resolve(1));
      child.on("error", () => resolve(0));
    } catch { resolve(0) }
  })));
  const started = forked.reduce((sum, one) => sum + one, 0);
  done["fork a thousand processes"] = tries === 0 || started > 500;
  process.stdout.write(JSON.stringify(done));
  process.exit();
})();`;

/** `none`: the control, which must succeed in nearly everything, without harm to the machine. */
const isControl = process.argv[2] === "none";
const isolation = isControl ? NO_ISOLATION : detectIsolation();
const folder = await mkdtemp(join(tmpdir(), "escape-"));
const secretFile = join(folder, "secret");
await writeFile(secretFile, "secret");
const tokenHash = createHash("sha256").update("the token").digest("hex");
const server = await startSandboxServer({ host: "127.0.0.1", port: 0, tokenHash, isolation });
const group = isolation.openGroup?.();
const command = [
  process.execPath,
  "-e",
  ATTEMPTS,
  String(process.pid),
  secretFile,
  String(server.port),
  isControl ? "0" : "1000",
];
const [file = "", ...args] = isolation.wrap(command, group);
const child = spawn(file, args, { env: {}, cwd: "/", detached: true, stdio: ["ignore", "pipe", "inherit"] });
const output = await text(child.stdout);
child.kill("SIGKILL");
group?.remove();
await server[Symbol.asyncDispose]();
await rm(folder, { recursive: true });
console.log(JSON.stringify({ layers: [...isolation.layers], done: output === "" ? undefined : JSON.parse(output) }));
