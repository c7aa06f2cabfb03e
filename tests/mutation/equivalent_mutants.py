def why_equivalent(name, old, new):
    return None
