import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { GO_MODULE, PROGRAMS } from "./paths.ts";

const run = promisify(execFile);

/** Each program and its package in the Go module. */
const PACKAGES = {
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
  "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
  kwok: "sigs.k8s.io/kwok/cmd/kwok",
  helm: "helm.sh/helm/v4/cmd/helm",
} as const;

export type Program = keyof typeof PACKAGES | "etcd";

export function programFile(name: Program): string {
  return join(PROGRAMS, name);
}

/** Why the programs cannot be made here; undefined if they can. */
export async function whyNoPrograms(): Promise<string | undefined> {
  if (process.platform !== "linux") return "it needs Linux";
  const hasGo = await run("go", ["version"]).then(
    () => true,
    () => false,
  );
  if (!hasGo) return "Go was not found";
  const hasEtcd = (await isFile(programFile("etcd"))) || (await etcdOnPath()) || (await hasApt());
  return hasEtcd ? undefined : "etcd was not found, and there is no apt-get to fetch it";
}

/** Compiles what is missing or was made from other versions; the first time it takes long. */
export async function makePrograms(log: (line: string) => void): Promise<void> {
  await mkdir(PROGRAMS, { recursive: true });
  if (!(await isFile(programFile("etcd")))) await fetchEtcd(log);
  const version = await kubernetesVersion();
  const made = join(PROGRAMS, "made-from");
  const [go, sum] = await Promise.all(["go.mod", "go.sum"].map((file) => readFile(join(GO_MODULE, file), "utf8")));
  const wanted = createHash("sha256").update(`${go}${sum}`).digest("hex");
  const isFresh = (await readFile(made, "utf8").catch(() => "")) === wanted;
  for (const [name, path] of Object.entries(PACKAGES)) {
    if (isFresh && (await isFile(programFile(name as Program)))) continue;
    log(`compiling ${name}`);
    await compile(name, path, version);
  }
  await writeFile(made, wanted);
}

/** The version of Kubernetes in the Go module, without v. */
export async function kubernetesVersion(): Promise<string> {
  const version = /^\s*k8s\.io\/kubernetes v(\d+\.\d+\.\d+)/m.exec(await readFile(join(GO_MODULE, "go.mod"), "utf8"));
  if (!version?.[1]) throw new Error("go.mod does not say which version of Kubernetes it needs");
  return version[1];
}

async function compile(name: string, path: string, version: string): Promise<void> {
  const [major, minor] = version.split(".");
  const variable = "k8s.io/component-base/version.git";
  // A program that is not built by Kubernetes' own scripts would say that it has version 0.0.0.
  const link = `-s -w -X ${variable}Version=v${version} -X ${variable}Major=${major} -X ${variable}Minor=${minor}`;
  const flags = ["-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", link];
  const go = spawn("go", ["build", ...flags, "-o", join(PROGRAMS, name), path], {
    cwd: GO_MODULE,
    env: { ...process.env, CGO_ENABLED: "0" },
    stdio: "inherit",
  });
  const [code] = await once(go, "exit");
  if (code !== 0) throw new Error(`go could not build ${name}`);
}

/** Debian's etcd, unpacked without an installation, or the one on the PATH. */
async function fetchEtcd(log: (line: string) => void): Promise<void> {
  const installed = await etcdOnPath();
  if (installed) return void (await run("cp", [installed, programFile("etcd")]));
  log("fetching etcd from Debian's packages");
  const folder = await mkdtemp(join(PROGRAMS, "etcd-"));
  try {
    const download = () =>
      run("sh", ["-c", "apt-get download etcd-server && dpkg -x etcd-server_*.deb ."], { cwd: folder });
    await download().catch(async () => {
      // Without lists of packages, apt knows none.
      await run("apt-get", ["update"]);
      await download();
    });
    await run("cp", [join(folder, "usr/bin/etcd"), programFile("etcd")]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function etcdOnPath(): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    if (folder && (await isFile(join(folder, "etcd")))) return join(folder, "etcd");
  }
  return undefined;
}

function hasApt(): Promise<boolean> {
  return isFile("/usr/bin/apt-get");
}

function isFile(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
