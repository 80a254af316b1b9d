import type { Bus } from "../src/connect.ts";
import type { StreamName } from "../src/streams.ts";

/** The payloads in a stream, as text, in order. */
export async function storedMessages(bus: Bus, stream: StreamName): Promise<string[]> {
  const { state } = await bus.jsm.streams.info(stream);
  const payloads: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await bus.jsm.streams.getMessage(stream, { seq }).catch(() => null);
    if (message) payloads.push(new TextDecoder().decode(message.data));
  }
  return payloads;
}
