"""What a communication library would choose, and what that is expected to cost; the verb is ``choose``."""
