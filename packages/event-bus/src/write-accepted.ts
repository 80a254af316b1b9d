import { isDataError } from "@toolgate/postgres/data-error";

/**
 * Writes the items that Postgres accepts, and returns the others, so that one bad item does not keep back the rest of its
 * batch: a batch that is refused is written in halves. Rejects when a write fails for any other reason.
 */
export async function writeAccepted<Item>(
  items: Item[],
  write: (items: Item[]) => Promise<void>,
): Promise<{ item: Item; reason: string }[]> {
  if (items.length === 0) return [];
  try {
    await write(items);
    return [];
  } catch (error) {
    if (!(error instanceof Error && isDataError(error))) throw error;
    if (items.length === 1) return items.map((item) => ({ item, reason: error.message }));
    const middle = Math.ceil(items.length / 2);
    const refused = await writeAccepted(items.slice(0, middle), write);
    return [...refused, ...(await writeAccepted(items.slice(middle), write))];
  }
}
