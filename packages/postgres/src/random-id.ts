import { randomBytes } from "node:crypto";

const BITS = 53;

/** A random id for a row, from 1 and below 2^53, so that ids do not reveal how many rows there are. */
export function newRandomId(): number {
  for (;;) {
    const id = Number(BigInt.asUintN(BITS, randomBytes(8).readBigUInt64BE()));
    if (id > 0) return id;
  }
}
