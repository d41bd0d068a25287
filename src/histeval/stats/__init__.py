"""Statistics on summed counts: tables of counts, metrics, intervals, tests."""
