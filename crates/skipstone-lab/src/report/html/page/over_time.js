// Curves over the time of a run.

/** `series` are labels with the names of their colours and what shows a value; `scale` is that of the values, with its axis. */
const timed = (title, note, series, data, scale) => {
  const host = h("div", { class: "plot" });
  let end = () => {};
  const show = () => {
    end();
    end = draw(
      host,
      Math.min(300, Math.max(220, host.clientWidth * 0.26)),
      {
        scales: { x: { time: false }, y: scale.scale },
        axes: [secondsAxis(), scale.axis],
        series: [
          { label: "time", value: (_plot, value) => (value == null ? "" : `${fixed(value, 0)} s`) },
          ...series.map(([label, colour, text]) => ({
            label,
            stroke: () => css(colour),
            width: 1.8,
            points: { show: data[0].length < 3 },
            value: (_plot, value) => (value == null ? "" : text(value)),
          })),
        ],
      },
      data,
    );
  };
  redraws.push(show);
  return card(title, note, host);
};
const fromZero = { range: (_plot, _least, most) => [0, Math.max(most ?? 1, 0.1) * 1.1] };
