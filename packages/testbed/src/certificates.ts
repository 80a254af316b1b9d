import { execFile } from "node:child_process";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./temporary-folder.ts";

const KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes".split(" ");

/** Certificate and key in PEM. */
export interface Issued {
  cert: string;
  key: string;
}

interface IssueOptions {
  /** As openssl writes them. */
  names?: string;
  /** From now; -1: it has expired. */
  days?: number;
  /** Extended key usage, such as `serverAuth`; by default everything is allowed. */
  uses?: string;
}

/** An authority of certificates, made by openssl as docs/operators.md describes. */
export interface Authority {
  ca: string;
  issue(options?: IssueOptions): Promise<Issued>;
}

/** The names of a server on this machine. */
export const LOCAL_NAMES = "DNS:localhost,IP:127.0.0.1";

export async function createAuthority(name = "toolgate"): Promise<Authority> {
  const folder = await temporaryFolder();
  const openssl = (...args: string[]) => promisify(execFile)("openssl", args, { cwd: folder });
  const read = (file: string) => readFile(join(folder, file), "utf8");
  await openssl("req", "-x509", ...KEY, "-days", "2", "-subj", `/CN=${name}`, "-keyout", "ca.key", "-out", "ca.pem");
  let count = 0;
  return {
    ca: await read("ca.pem"),
    async issue({ names = LOCAL_NAMES, days = 2, uses } = {}) {
      count += 1;
      const own = `own-${count}`;
      const extensions = [`subjectAltName=${names}`, ...(uses ? [`extendedKeyUsage=${uses}`] : [])];
      await writeFile(join(folder, `${own}.ext`), `${extensions.join("\n")}\n`);
      await openssl("req", "-new", ...KEY, "-subj", "/CN=process", "-keyout", `${own}.key`, "-out", `${own}.csr`);
      const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", `${count}`];
      const given = ["-days", `${days}`, "-extfile", `${own}.ext`, "-out", `${own}.pem`];
      await openssl("x509", "-req", "-in", `${own}.csr`, ...signing, ...given);
      return { cert: await read(`${own}.pem`), key: await read(`${own}.key`) };
    },
  };
}

/** The files of a process, which a test can replace as an operator does. */
export interface CertificateFiles {
  /** TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE. */
  env: { TLS_CERT_FILE: string; TLS_KEY_FILE: string; TLS_CA_FILE: string };
  /** Replaces whole files, by renaming. */
  write(content: Partial<Issued & { ca: string }>): Promise<void>;
}

export async function certificateFiles(content: Issued & { ca: string }): Promise<CertificateFiles> {
  const folder = await temporaryFolder();
  const files = {
    async write(changed: Partial<Issued & { ca: string }>) {
      for (const [name, text] of Object.entries(changed)) {
        await writeFile(join(folder, `${name}.new`), text, { mode: 0o600 });
        await rename(join(folder, `${name}.new`), join(folder, name));
      }
    },
    env: {
      TLS_CERT_FILE: join(folder, "cert"),
      TLS_KEY_FILE: join(folder, "key"),
      TLS_CA_FILE: join(folder, "ca"),
    },
  };
  await files.write(content);
  return files;
}
