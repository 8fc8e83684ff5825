"""Code that the tests, e2e and bench share: clusters, simulators, proxies. No shipped code imports it."""
