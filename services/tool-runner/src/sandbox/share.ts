/**
 * Whether a workspace that holds `mine` of `taken` places may take one more: only while it holds fewer than are free.
 * However many workspaces want all they can get, each gets the same share and as much again stays free for the next.
 */
export function mayTakeOne(mine: number, taken: number, places: number): boolean {
  return mine < places - taken;
}
