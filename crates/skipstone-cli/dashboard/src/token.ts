// The token, as a header can carry it.

/** Fetch takes characters up to U+00FF there, and sends each as one byte: these are the bytes of UTF-8. */
export function headerOf(token: string): string {
  return String.fromCharCode(...new TextEncoder().encode(`Bearer ${token}`));
}
