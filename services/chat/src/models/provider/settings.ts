import type { SafeFetch } from "@toolgate/safe-fetch/fetch";

/** How long a model's server may take, in milliseconds. */
export type ModelLimits = {
  /** For DNS, connect and TLS. */
  connectMs: number;
  /** From there to the first byte of the answer. */
  firstByteMs: number;
  /** Between two parts of the answer. */
  idleMs: number;
  /** For everything, a retry included. */
  totalMs: number;
  /** Longest pause before the one retry; a server that asks for more is not asked again. */
  retryWaitMs: number;
};

export const MODEL_LIMITS: ModelLimits = {
  connectMs: 5_000,
  firstByteMs: 60_000,
  idleMs: 60_000,
  totalMs: 600_000,
  retryWaitMs: 5_000,
};

/** A model at a server that a workspace has chosen. */
export type ProviderSettings = {
  workspaceId: string;
  /** The workspace's name for it. */
  name: string;
  /** Such as https://models.example.com/v1 */
  baseUrl: string;
  /** The server's name for it. */
  model: string;
  /** Empty: none is sent. */
  apiKey: string;
  /** Whether files are sent; otherwise only their names are. */
  readsFiles: boolean;
  /** Asks for the number of tokens with an option that not every server knows. */
  asksForUsage: boolean;
  /** The answer begins with what the model thinks, up to an end tag. */
  thinksFirst: boolean;
  safeFetch: SafeFetch;
  limits?: ModelLimits;
};
