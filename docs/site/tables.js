// Writes the heading of its column into each cell, for extra.css, which shows a row as a card on a phone.
for (const table of document.querySelectorAll(".md-typeset table")) {
  const headings = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, column) => { cell.dataset.heading = headings[column] ?? ""; });
  }
}
