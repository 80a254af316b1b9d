import { request } from "node:https";

/** How to reach an API server. */
export interface Address {
  readonly url: string;
  readonly token: string;
  /** The authority of its certificate, in PEM. */
  readonly ca: string;
}

/** An object of the Kubernetes API. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  // biome-ignore lint/suspicious/noExplicitAny: whatever the API server says
  readonly [field: string]: any;
}

/** An answer of the API server other than success. */
export class ApiError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TIMEOUT_MS = 30_000;

/** A small client of the Kubernetes API, by paths such as /api/v1/nodes. */
export class Api {
  readonly #address: Address;
  constructor(address: Address) {
    this.#address = address;
  }

  get(path: string): Promise<KubernetesObject> {
    return this.#send("GET", path);
  }

  async list(path: string): Promise<KubernetesObject[]> {
    const { items } = await this.#send("GET", path);
    return items;
  }

  /** Creates an object in the collection at this path; one that is there already stays. */
  async create(path: string, object: unknown): Promise<void> {
    await this.#send("POST", path, object).catch((error) => {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    });
  }

  async patch(path: string, change: unknown): Promise<void> {
    await this.#send("PATCH", path, change, "application/merge-patch+json");
  }

  async delete(path: string): Promise<void> {
    await this.#send("DELETE", path).catch((error) => {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    });
  }

  #send(method: string, path: string, body?: unknown, type = "application/json"): Promise<KubernetesObject> {
    const { url, token, ca } = this.#address;
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": type }) };
      const call = request(`${url}${path}`, { method, headers, ca, timeout: TIMEOUT_MS }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          text += piece;
        });
        response.on("error", reject);
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          if (status >= 300) return reject(new ApiError(status, `${method} ${path}: ${status} ${text}`));
          resolve(text.startsWith("{") ? JSON.parse(text) : { metadata: { name: "" }, text });
        });
      });
      call.on("timeout", () => call.destroy(new Error(`${method} ${path}: no answer in ${TIMEOUT_MS} ms`)));
      call.on("error", reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
