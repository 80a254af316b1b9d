/** Where the contents of uploaded files are. An object is written once and never changed. */
export interface ObjectStore {
  /** Stores the whole content, or nothing when reading the chunks fails. Resolves once it is safe. */
  write(id: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined when there is no such object. */
  read(id: string): Promise<Buffer | undefined>;
  /** Deleting what does not exist is not an error. */
  delete(id: string): Promise<void>;
}
