"""One file a command: parse, call one job, print. :data:`gpufabric.cli.app.COMMANDS` lists them."""
