"""Flows on links (JSON on standard input) → when SimGrid says that each ends, and how long it took (JSON).

Run by the system's Python, where Debian puts the module; it must not import gpufabric. Every flow gets a sending host of its own,
whose way up is the flow's links, in a star: a platform then takes memory for each link of each flow and no more.
A link named twice by a flow counts once for SimGrid, so weights other than 1 can't be compared.
"""

import json
import sys
import time

import simgrid

# Pure max-min fairness: no slow start, no bound by window over latency, no acknowledgements, no overhead.
SETTINGS = (
    "--cfg=network/model:CM02",
    "--cfg=network/optim:Lazy",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/crosstraffic:0",
    "--cfg=network/weight-S:0",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/latency-factor:1",
)


def main():
    asked = json.load(sys.stdin)
    begun = time.perf_counter()
    engine = simgrid.Engine([sys.argv[0], "--log=root.thres:critical", *SETTINGS])
    zone = simgrid.NetZone.create_star_zone("links")
    links = [zone.create_link(f"l{i}", float(rate)) for i, rate in enumerate(asked["bytes_per_s"])]
    target = zone.create_host("target", 1e9)
    zone.add_route(target.netpoint, None, None, None, [], True)
    senders = []
    for number, path in enumerate(asked["paths"]):
        host = zone.create_host(f"h{number}", 1e9)
        way = [simgrid.LinkInRoute(links[i]) for i in path]
        zone.add_route(host.netpoint, None, None, None, way, False)
        senders.append(host)
    for link in links:
        link.seal()
    zone.seal()
    ends = [0.0] * len(senders)

    def send_all():
        order = sorted(range(len(senders)), key=asked["start_s"].__getitem__)
        sent = []
        for number in order:
            if asked["start_s"][number] > engine.clock:
                simgrid.this_actor.sleep_until(asked["start_s"][number])
            sent.append(
                (number, simgrid.Comm.sendto_async(senders[number], target, int(asked["bytes"][number])))
            )
        for number, comm in sent:
            comm.wait()
            ends[number] = comm.finish_time

    simgrid.Actor.create("sender", target, send_all)
    built = time.perf_counter()
    engine.run()
    done = time.perf_counter()
    json.dump({"finish_s": ends, "platform_wall_s": built - begun, "run_wall_s": done - built}, sys.stdout)


if __name__ == "__main__":
    main()
