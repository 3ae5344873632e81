// SPDX-License-Identifier: Apache-2.0
// Begins the flame graphs of a page.
document.querySelectorAll('svg.flame').forEach(flameGraph);
