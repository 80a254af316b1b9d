const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Null for an id that is not a UUID, which then finds nothing. */
export function uuidOrNull(id: string): string | null {
  return UUID.test(id) ? id : null;
}
