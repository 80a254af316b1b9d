import { constants, type Http2Session } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { KEEPALIVE_TICK_MS, SILENT_TICKS_UNTIL_LOST, SILENT_TICKS_UNTIL_PROBE } from "./limits.ts";

/**
 * Probes a connection while it is in use, and destroys it when its peer does not respond within 4 s.
 *
 * It counts ticks of its timer, not time, so that a pause of this process does not look like a silent peer. It probes with
 * empty SETTINGS, which the peer must acknowledge: Node sends no pings once the peer has sent GOAWAY, so a draining server
 * with open calls would look dead.
 */
export function keepAlive(session: Http2Session, isInUse: () => boolean): void {
  let silentTicks = 0;
  const heard = () => {
    silentTicks = 0;
  };
  const watch = () => {
    if (session.destroyed || session.connecting) return;
    if (!isInUse()) return heard();
    silentTicks += 1;
    if (silentTicks > SILENT_TICKS_UNTIL_LOST) {
      session.destroy(new ConnectError("the server does not respond", Code.Unavailable), constants.NGHTTP2_CANCEL);
    } else if (silentTicks > SILENT_TICKS_UNTIL_PROBE) {
      session.settings({}, (error) => {
        if (error === null) heard();
      });
    }
  };
  const timer = setInterval(watch, KEEPALIVE_TICK_MS).unref();
  session.once("close", () => clearInterval(timer));
}
