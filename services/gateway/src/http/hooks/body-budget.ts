import { networkOf } from "@toolgate/ip-address/ip-address";

/** The bodies that may be arriving at the same time, in bytes. */
export interface BodyBudget {
  /** A place for one body from this address; dispose it when the body is complete or was cut. */
  open(clientIp: string): ArrivingBody;
}

export interface ArrivingBody extends Disposable {
  /** Whether another chunk of this many bytes may be kept. */
  take(bytes: number): boolean;
}

interface Limits {
  total: number;
  perClient: number;
}

const MIB = 1024 * 1024;
const LIMITS: Limits = { total: 64 * MIB, perClient: 8 * MIB };
/** What a chunk takes up in addition to its bytes, so that many tiny chunks are not free. */
const CHUNK_BYTES = 256;

/**
 * Strangers may send bodies to any URL that looks like a hook's, and slowly: without a budget, they could fill the memory.
 * One address (IPv6: one /64) gets only a part of it, so that it cannot keep others from sending.
 */
export function createBodyBudget({ total, perClient }: Limits = LIMITS): BodyBudget {
  let used = 0;
  const usedBy = new Map<string, number>();
  return {
    open(clientIp) {
      const client = networkOf(clientIp);
      let own = 0;
      const add = (bytes: number) => {
        own += bytes;
        used += bytes;
        const ofClient = (usedBy.get(client) ?? 0) + bytes;
        if (ofClient === 0) usedBy.delete(client);
        else usedBy.set(client, ofClient);
      };
      return {
        take(chunk) {
          const bytes = chunk + CHUNK_BYTES;
          if (used + bytes > total || (usedBy.get(client) ?? 0) + bytes > perClient) return false;
          add(bytes);
          return true;
        },
        [Symbol.dispose]: () => add(-own),
      };
    },
  };
}
