using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text.RegularExpressions;
using NUnit.Framework;
using Skipstone.Native;

namespace Skipstone.Tests
{
    public class AbiTests
    {
        [Test]
        public void The_library_of_these_tests_has_this_version()
        {
            AbiCheck.Compare(NativeMethods.skipstone_abi_version(), NativeMethods.skipstone_struct_size);
            StringAssert.IsMatch(@"^\d+\.\d+\.\d+$", Library.Version);
        }

        [Test]
        public void A_library_of_another_version_is_refused()
        {
            foreach (uint version in new[] { 0u, 2u << 16, uint.MaxValue })
            {
                SkipstoneException error = Assert.Throws<SkipstoneException>(() => AbiCheck.Compare(version, NativeMethods.skipstone_struct_size));
                Assert.AreEqual(Status.WrongAbi, error.Status);
                StringAssert.Contains("same release", error.Message);
            }
        }

        [Test]
        public void A_newer_library_of_the_same_version_may_have_larger_structures()
        {
            uint grown(uint which) => NativeMethods.skipstone_struct_size(which) + (which >= 2 && which <= 9 && which != 4 ? 8u : 0);
            AbiCheck.Compare((AbiCheck.Major << 16) + AbiCheck.Minor + 1, grown);
        }

        [Test]
        public void A_structure_of_another_size_is_named()
        {
            uint wrong(uint which) => which == 1 ? 8u : NativeMethods.skipstone_struct_size(which);
            SkipstoneException error = Assert.Throws<SkipstoneException>(() => AbiCheck.Compare(NativeMethods.skipstone_abi_version(), wrong));
            StringAssert.Contains("Event", error.Message);
            StringAssert.Contains("8 there", error.Message);
        }

        [Test]
        public void Every_function_that_is_called_is_in_the_header()
        {
            string header = Header();
            foreach (MethodInfo method in Il2CppTests.Imports())
            {
                Match found = Regex.Match(header, @"\b" + method.Name + @"\s*\(([^)]*)\)");
                Assert.IsTrue(found.Success, method.Name + " is not in skipstone.h");
                string[] given = found.Groups[1].Value.Trim() == "void" ? new string[0] : found.Groups[1].Value.Split(',');
                Assert.AreEqual(given.Length, method.GetParameters().Length, method.Name + " has other parameters in skipstone.h");
            }
        }

        [Test]
        public void Numbers_are_those_of_the_header()
        {
            string header = Header();
            var here = new Dictionary<string, Type>
            {
                { "STATUS", typeof(Status) }, { "EVENT_KIND", typeof(EventKind) }, { "CLOSED_BY", typeof(ClosedBy) },
                { "GIVEN_UP", typeof(GivenUp) }, { "DELIVERY", typeof(DeliveryMode) }, { "OVERFLOW", typeof(Overflow) },
                { "REDUNDANCY", typeof(RedundancyMode) }, { "DIRECTION", typeof(Direction) }, { "VIOLATION", typeof(Violation) },
                { "THREADING", typeof(Threading) }, { "CONGESTION", typeof(Congestion) }, { "LOG_LEVEL", typeof(LogLevel) },
            };
            foreach (KeyValuePair<string, Type> kind in here)
            {
                var there = new Dictionary<string, long>();
                foreach (Match match in Regex.Matches(header, @"SKIPSTONE_" + kind.Key + @"_([A-Z0-9_]+)\s*=\s*(-?\d+)"))
                    there[Plain(match.Groups[1].Value)] = long.Parse(match.Groups[2].Value);
                var ours = Enum.GetNames(kind.Value).ToDictionary(Plain, name => Convert.ToInt64(Enum.Parse(kind.Value, name)));
                CollectionAssert.AreEquivalent(there, ours, kind.Value.Name);
            }
            foreach (FieldInfo code in typeof(CloseCode).GetFields())
                StringAssert.IsMatch("SKIPSTONE_CLOSE_CODE_" + Snake(code.Name) + @"\s*=\s*" + code.GetValue(null) + ",", header);
        }

        // Removes what the two languages write differently.
        private static string Plain(string name) => name.Replace("_", "").ToUpperInvariant();

        private static string Snake(string name) => Regex.Replace(name, "(?<=[a-z])(?=[A-Z])", "_").ToUpperInvariant();

        private static string Header()
        {
            string path = Environment.GetEnvironmentVariable("SKIPSTONE_HEADER");
            if (path == null) Assert.Ignore("SKIPSTONE_HEADER names no header");
            return File.ReadAllText(path);
        }
    }
}
