"""Every shared type. Frozen, no behaviour beyond derived values.

The four records of the waist: :mod:`~gpufabric.records.cluster_spec` (what is asked for), :mod:`~gpufabric.records.cluster`
(what is built or found), :mod:`~gpufabric.records.graph` (what predictions run on), :mod:`~gpufabric.records.flows`
(what travels over it).
"""
