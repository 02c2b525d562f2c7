// Elements from TypeScript. Children that are strings become text, never HTML.

type Child = Node | string;
type Properties<T> = Partial<Omit<T, "style" | "dataset" | "attributes">> & {
  attributes?: Record<string, string>;
  on?: Record<string, (event: Event) => void>;
};

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const { attributes, on, ...rest } = properties;
  const element = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  for (const [name, listener] of Object.entries(on ?? {})) element.addEventListener(name, listener);
  element.append(...children);
  return element;
}

/** An SVG element. */
export function svg(tag: string, attributes: Record<string, string>, ...children: Node[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Sets a text only where it changes, which spares the browser work. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
