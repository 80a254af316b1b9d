import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

/** The file tree of a built image, such as `buildah mount` or `docker export` gives it; undefined: not given. */
export const IMAGE_ROOT = process.env.IMAGE_ROOT;

/** Why containers cannot be started here; undefined if they can. */
export function whyNoImage(): string | undefined {
  if (!IMAGE_ROOT) return "IMAGE_ROOT names no file tree of an image";
  return process.getuid?.() === 0 ? undefined : "starting containers takes root";
}

const USER = 10001;
/**
 * What a container runtime does: a root of its own, read-only, with /proc, /dev and a writable /tmp; processes of its own; the
 * image's user without capabilities.
 */
const ENTER = `set -e
mount --bind "$0" "$0"; mount -o remount,ro,bind "$0"
mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; mount -t tmpfs -o mode=1777,size=256m tmpfs "$0/tmp"
cd "$0"; pivot_root . .; umount -l .; cd /toolgate
exec setpriv --reuid ${USER} --regid ${USER} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"`;

/** A process of the image. */
export interface Container extends AsyncDisposable {
  readonly log: readonly string[];
  /** Ids and rights, from the kernel. */
  status(): Promise<string>;
  /** Sends SIGTERM to the first process, and resolves with the exit code of the container. */
  stop(): Promise<number | null>;
}

/** Runs the image's entry point, or another command, with this environment. */
export async function startContainer(command: readonly string[], env: Record<string, string>): Promise<Container> {
  const args = ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, IMAGE_ROOT ?? "", ...command];
  const path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
  const unshare = spawn("unshare", args, { env: { ...env, PATH: path }, stdio: ["ignore", "pipe", "pipe"] });
  const log: string[] = [];
  for (const output of [unshare.stdout, unshare.stderr])
    createInterface({ input: output }).on("line", (line) => log.push(line));
  const ended = once(unshare, "exit");
  return {
    log,
    status: async () => readFile(`/proc/${await firstProcess(unshare)}/status`, "utf8"),
    async stop() {
      if (unshare.exitCode === null) process.kill(await firstProcess(unshare), "SIGTERM");
      await ended;
      return unshare.exitCode;
    },
    async [Symbol.asyncDispose]() {
      unshare.kill("SIGKILL");
      await ended;
    },
  };
}

async function firstProcess({ pid }: ChildProcess): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim());
}
