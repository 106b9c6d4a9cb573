"""Evidence about a measured job → possible causes; the registry and the verb are in :mod:`gpufabric.diagnosis.diagnose`."""
