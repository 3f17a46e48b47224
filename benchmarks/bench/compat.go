package main

// compatPeers are the adapters.
func (e *env) compatPeers() []peer { return nil }

func (e *env) compatSingles(string) []impl { return nil }

func (e *env) compatPipelines(string) []impl { return nil }
