import { Code, ConnectError } from "@connectrpc/connect";

/** Who saved the version that an edit would have overwritten. */
interface SavedVersion {
  version: number;
  /** Email address of the user, or "operator". */
  savedBy: string;
  savedAt: Date;
}

/**
 * The error of an edit whose `expected_version` is no longer the object's version: `aborted`, and nothing was changed. Without
 * an `expected_version` the last write wins.
 */
export function editConflict({ version, savedBy, savedAt }: SavedVersion): ConnectError {
  const at = savedAt.toISOString().slice(0, 19).replace("T", " ");
  return new ConnectError(`${savedBy} saved version ${version} at ${at} UTC, after you opened it`, Code.Aborted);
}
