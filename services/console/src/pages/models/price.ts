import type { ModelPrice } from "@toolgate/gen/toolgate/chat/v1/model_pb";

const MICROS = 1_000_000n;
const NUMBER = /^(\d{1,5})(?:\.(\d{1,6}))?$/;

/** Millionths of the currency's unit; undefined for a text that is no price. */
export function microsOf(text: string): bigint | undefined {
  const [, whole, fraction = ""] = NUMBER.exec(text.trim()) ?? [];
  return whole === undefined ? undefined : BigInt(whole) * MICROS + BigInt(fraction.padEnd(6, "0"));
}

/** As a price is typed: 400000 is 0.4. */
export function textOfMicros(micros: bigint): string {
  const fraction = String(micros % MICROS)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${micros / MICROS}${fraction === "" ? "" : `.${fraction}`}`;
}

/** In the currency, with as many decimals as it needs. */
export function costText({ currency, micros }: { currency: string; micros: bigint }): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency, maximumFractionDigits: 6 });
  return format.format(Number(micros) / Number(MICROS));
}

export function priceText({ currency, inputMicros, outputMicros }: ModelPrice): string {
  const cost = (micros: bigint) => costText({ currency, micros });
  return `${cost(inputMicros)} / ${cost(outputMicros)}`;
}
