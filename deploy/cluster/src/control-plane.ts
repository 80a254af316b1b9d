import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import { freePort, isPortFree } from "@toolgate/local-servers/ports";
import { type Address, Api } from "./api.ts";
import { startProgram } from "./program-process.ts";

/** A control plane without machines: KWOK plays the nodes and what runs on them. */
export interface ControlPlane extends AsyncDisposable {
  readonly address: Address;
  /** For kubectl and helm. */
  readonly kubeconfig: string;
}

/** Who the programs are for the API server. */
const USERS = {
  admin: "system:masters",
  "system:kube-controller-manager": "",
  "system:kube-scheduler": "",
} as const;

const STAGES = new URL("./stages.yaml", import.meta.url).pathname;

/** Starts etcd, the API server, the controllers, the scheduler and KWOK, with all data and logs in `folder`. */
export async function startControlPlane(folder: string, log: (line: string) => void): Promise<ControlPlane> {
  await mkdir(folder, { recursive: true });
  const file = (name: string) => join(folder, name);
  const [clients, peers, api, scheduler, controllers, kwok] = await freePorts(6);
  const url = `https://127.0.0.1:${api}`;
  const { cert, key, ca } = await makeLoopbackCertificate(new Date());
  const tokens = Object.keys(USERS).map((user) => ({ user, token: randomBytes(16).toString("hex") }));
  const accounts = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await Promise.all([
    writeFile(file("api.crt"), cert),
    writeFile(file("api.key"), key),
    writeFile(file("ca.crt"), ca),
    writeFile(file("accounts.key"), accounts.privateKey.export({ type: "pkcs8", format: "pem" })),
    writeFile(file("accounts.pub"), accounts.publicKey.export({ type: "spki", format: "pem" })),
    writeFile(file("tokens.csv"), tokens.map(({ user, token }) => tokenLine(user, token)).join("")),
    ...tokens.map(({ user, token }) => writeFile(kubeconfigFile(user), kubeconfig(url, ca, token))),
  ]);
  function kubeconfigFile(user: string): string {
    return file(`${user.replace("system:", "")}.kubeconfig`);
  }

  await using started = new AsyncDisposableStack();
  const start = async (name: Parameters<typeof startProgram>[0], args: string[], ready: () => Promise<boolean>) => {
    started.use(await startProgram(name, args, { logFile: file(`${name}.log`), ready }));
    log(`${name} is ready`);
  };
  const etcd = `http://127.0.0.1:${clients}`;
  const peer = `http://127.0.0.1:${peers}`;
  await start(
    "etcd",
    [
      ...["--name=test", `--data-dir=${file("etcd")}`, "--unsafe-no-fsync", `--initial-cluster=test=${peer}`],
      ...[`--listen-client-urls=${etcd}`, `--advertise-client-urls=${etcd}`],
      ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
    ],
    async () => (await fetch(`${etcd}/health`)).ok,
  );
  const address: Address = { url, ca, token: tokens[0]?.token ?? "" };
  const client = new Api(address);
  await start(
    "kube-apiserver",
    [
      `--etcd-servers=${etcd}`,
      `--secure-port=${api}`,
      ...["--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none"],
      `--tls-cert-file=${file("api.crt")}`,
      `--tls-private-key-file=${file("api.key")}`,
      `--token-auth-file=${file("tokens.csv")}`,
      "--authorization-mode=RBAC",
      // Lists as streams need etcd 3.5. Clients that ask for them and are refused late wait longer after each failure.
      "--feature-gates=WatchList=false",
      `--service-account-key-file=${file("accounts.pub")}`,
      `--service-account-signing-key-file=${file("accounts.key")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-cluster-ip-range=10.96.0.0/16,fd00:96::/108",
    ],
    () => client.get("/readyz").then(() => true),
  );
  const hasAccounts = () => client.list("/api/v1/namespaces/default/serviceaccounts").then(({ length }) => length > 0);
  await Promise.all([
    start(
      "kube-controller-manager",
      [
        `--kubeconfig=${kubeconfigFile("system:kube-controller-manager")}`,
        ...["--bind-address=127.0.0.1", `--secure-port=${controllers}`, "--use-service-account-credentials"],
        `--service-account-private-key-file=${file("accounts.key")}`,
        `--root-ca-file=${file("ca.crt")}`,
        ...["--leader-elect=false"],
        // Nodes are lost when a test removes them, and not because this machine is busy.
        "--node-monitor-grace-period=20m",
      ],
      hasAccounts,
    ),
    start(
      "kube-scheduler",
      [
        `--kubeconfig=${kubeconfigFile("system:kube-scheduler")}`,
        ...["--bind-address=127.0.0.1", `--secure-port=${scheduler}`, "--leader-elect=false"],
      ],
      () => listens(scheduler),
    ),
    start(
      "kwok",
      [
        ...[`--kubeconfig=${kubeconfigFile("admin")}`, "--manage-all-nodes=true", `--config=${STAGES}`],
        ...["--cidr=10.64.0.0/16", `--server-address=127.0.0.1:${kwok}`],
      ],
      () => listens(kwok),
    ),
  ]);
  const running = started.move();
  return { address, kubeconfig: kubeconfigFile("admin"), [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort(ports));
  return ports;
}

function tokenLine(user: string, token: string): string {
  const group = USERS[user as keyof typeof USERS];
  return `${token},${user},${user}${group && `,"${group}"`}\n`;
}

function kubeconfig(server: string, ca: string, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
    users: [{ name: "user", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "user" } }],
    "current-context": "test",
  });
}

async function listens(port = 0): Promise<boolean> {
  return !(await isPortFree(port));
}
